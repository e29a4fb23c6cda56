"""Policy: hook modules, tools, providers, loops, contexts and stores."""
