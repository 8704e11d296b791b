import tools
tools.table["f"]()
