def f():
    pass
def g():
    pass
def make():
    return [lambda: task() for task in (f, g)]
for run in make():
    run()
