def f():
    pass
def g():
    pass
def h():
    pass
tasks = [f, g, h]
tasks[1:][0]()
