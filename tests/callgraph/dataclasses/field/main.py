from dataclasses import dataclass
@dataclass
class Config:
    task: object
    other: object = None
def f():
    pass
def g():
    pass
config = Config(f, other=g)
config.task()
config.other()
