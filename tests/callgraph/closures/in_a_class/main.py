def make(f):
    class A:
        def run(self):
            f()
    return A()
def job():
    pass
make(job).run()
