class Settings:
    def load(self):
        pass
settings = Settings()
