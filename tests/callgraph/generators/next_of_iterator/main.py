def f():
    pass
iterator = iter([f])
next(iterator)()
