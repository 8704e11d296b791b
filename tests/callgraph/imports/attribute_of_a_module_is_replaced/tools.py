def f():
    pass
def run():
    f()
