class A:
    def f(self):
        pass
A().f()
