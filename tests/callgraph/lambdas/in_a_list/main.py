def f():
    pass
tasks = [lambda: f(), lambda: None]
tasks[1]()
