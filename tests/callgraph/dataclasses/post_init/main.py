from dataclasses import dataclass, field
@dataclass
class Config:
    tasks: list = field(default_factory=list)
    def __post_init__(self):
        self.setup()
    def setup(self):
        pass
Config()
