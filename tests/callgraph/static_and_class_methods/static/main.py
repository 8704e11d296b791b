class A:
    @staticmethod
    def f(task):
        task()
def job():
    pass
A.f(job)
A().f(job)
