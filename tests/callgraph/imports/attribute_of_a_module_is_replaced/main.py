import tools
def g():
    pass
tools.run()
tools.f = g
tools.run()
