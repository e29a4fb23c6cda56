"""The files of a log: the directory, the lines of a segment, how far a writer got."""
