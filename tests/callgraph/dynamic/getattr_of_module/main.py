import tools
getattr(tools, "f")()
