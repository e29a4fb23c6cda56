"""The launcher: a small process that starts commands for the agent and ends what they leave behind.

It runs as a program of its own. The agent asks it for cells. A cell is a process that starts one
command at a time and inherits every orphan of it, so that descendants cannot leave it, whatever
they do with sessions and groups: it ends them all when the agent says so or is gone.
"""
