"""The command of an agent: these lines are compiled at each call, their imports only once."""

import sys

sys.path.append(__file__.rpartition("/")[0])  # last: nothing there may hide the library
import client  # type: ignore[import-not-found]

if __name__ == "__main__":
    client.main()
