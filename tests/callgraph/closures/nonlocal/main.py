def f():
    pass
def g():
    pass
def outer():
    task = f
    def change():
        nonlocal task
        task = g
    task()
    change()
    task()
outer()
