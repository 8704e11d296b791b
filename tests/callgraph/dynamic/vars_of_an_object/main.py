class A:
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)
    def run(self):
        self.task()
def f():
    pass
A(task=f).run()
