def f():
    pass
task = lambda g=f: g()
task()
