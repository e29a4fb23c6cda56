"""The sessions of ours that stand behind the sessions of other agents, one each."""

PUBLIC_MODULES = ("approval",)
