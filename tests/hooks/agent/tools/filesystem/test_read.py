"""Read shows a text file with line numbers."""

from __future__ import annotations

from amplifier_hooks.agent.tools import filesystem


async def test_every_line_has_its_number(call, work, artifacts):
    """Whatever ends it; the event comes after a successful read."""
    (work / "a.txt").write_text("one\ntwo\r\n\nfour")
    result = await call("Read", file_path="a.txt")
    assert result.output == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    assert artifacts == [("artifact:read", str(work.resolve() / "a.txt"), 14)]


async def test_a_range_of_lines_can_be_asked_for(call, work):
    """What is left is said, and a range behind the end is refused."""
    (work / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))
    result = await call("Read", file_path="a.txt", offset=3, limit=2)
    assert result.output.startswith("     3\t3\n     4\t4\n")
    assert "(10 lines; go on with offset 5)" in result.output
    result = await call("Read", file_path="a.txt", offset=9)
    assert result.output == "     9\t9\n    10\t10"
    result = await call("Read", file_path="a.txt", offset=11)
    assert result.error == "'a.txt' has 10 lines; offset 11 is behind"


async def test_a_binary_file_is_named_as_one(call, work, artifacts):
    """Nothing is announced, because nothing was shown."""
    (work / "a.bin").write_bytes(b"\x89PNG\0\0")
    result = await call("Read", file_path="a.bin")
    assert "binary file of 6 bytes" in result.error
    assert artifacts == []


async def test_an_empty_file_is_no_error(call, work):
    """It is said that there is nothing."""
    (work / "a").touch()
    assert (await call("Read", file_path="a")).output == "(a is empty)"


async def test_what_is_not_utf_8_is_shown_as_such(call, work):
    """One byte does not make a text unreadable; a byte order mark is no text."""
    (work / "a").write_bytes(b"\xef\xbb\xbfcaf\xe9\n")
    assert (await call("Read", file_path="a")).output == "     1\tcaf\ufffd"


async def test_a_huge_file_a_huge_line_and_a_huge_answer_are_cut(coordinator, work):
    """And it is said."""
    await filesystem.mount(coordinator, {"max_bytes": 100_000, "max_output": 5000})
    with (work / "huge").open("wb") as file:
        file.truncate(50_000_000_000)
        file.write(b"line\n" * 30_000)
    (work / "wide").write_text("x" * 50_000)
    read = coordinator.tools["Read"]
    result = await read.execute({"file_path": "huge"})
    assert result.success
    assert len(result.output) < 6000
    assert "only the first 100,000 are looked at" in result.output
    result = await read.execute({"file_path": "huge", "offset": 90_000})
    assert "only the first 100,000 are looked at; offset 90000 is behind" in result.error
    result = await read.execute({"file_path": "wide"})
    assert "… (48000 more characters)" in result.output


async def test_the_end_of_what_is_looked_at_is_said(coordinator, work):
    """Nobody takes a part of a file for all of it."""
    await filesystem.mount(coordinator, {"max_bytes": 8})
    (work / "a").write_text("one\ntwo\nthree\n")
    result = await coordinator.tools["Read"].execute({"file_path": "a"})
    note = "(14 bytes, of which only the first 8 are looked at)"
    assert result.output == f"     1\tone\n     2\ttwo\n{note}"


async def test_at_least_one_line_is_shown(coordinator, work):
    """However small the answer must be; more lines than asked for are not."""
    await filesystem.mount(coordinator, {"max_output": 1, "max_lines": 2})
    (work / "a").write_text("one\ntwo\nthree\n")
    result = await coordinator.tools["Read"].execute({"file_path": "a"})
    assert result.output == "     1\tone\n(3 lines; go on with offset 2)"
