def f():
    pass
tasks = []
tasks += [f]
tasks[0]()
