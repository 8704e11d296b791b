def run(task):
    task()
def job():
    pass
run(job)
