def f():
    pass
def g():
    pass
class A:
    def __init__(self, callback):
        self.callback = callback
    def run(self):
        self.callback()
A(f).run()
