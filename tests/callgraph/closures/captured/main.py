def make(task):
    def run():
        task()
    return run
def job():
    pass
make(job)()
