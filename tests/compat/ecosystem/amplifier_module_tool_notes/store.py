"""Where the notes are kept."""


class NoteStore:
    def __init__(self, working_dir):
        self.working_dir = working_dir
        self.notes = {}
        self.closed = False

    def add(self, text):
        number = len(self.notes) + 1
        self.notes[number] = text
        return number
