class A:
    def f(self):
        self.g()
    def g(self):
        pass
def run(task):
    task()
run(A().f)
