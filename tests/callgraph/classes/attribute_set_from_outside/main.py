def f():
    pass
class A:
    def __init__(self):
        self.task = None
    def run(self):
        self.task()
a = A()
a.task = f
a.run()
