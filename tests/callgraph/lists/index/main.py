def f():
    pass
def g():
    pass
tasks = [f, g]
tasks[0]()
tasks[-1]()
