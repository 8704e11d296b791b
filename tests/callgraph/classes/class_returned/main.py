def make():
    class Local:
        def f(self):
            pass
    return Local
make()().f()
