from pack.a import run
run()
