"""What a validator meets in Django: `django.py <folder of the recipe> <email>…`."""

import os
import sys
import types


class ValidationError(Exception):
    def __init__(self, message, code=None):
        super().__init__(message)


names = ("DOMAIN_RISK_URL", "DOMAIN_RISK_KEY")
for name in ("django", "django.core", "django.conf", "django.core.exceptions"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["django.conf"].settings = types.SimpleNamespace(**{name: os.environ[name] for name in names})
sys.modules["django.core.exceptions"].ValidationError = ValidationError
sys.path[0] = sys.argv[1]

from django_check import acceptable_domain  # noqa: E402

for email in sys.argv[2:]:
    try:
        # A JSON body may hold half of a character, which no URL can.
        print(acceptable_domain(email.replace("\\ud800", "\ud800")))
    except ValidationError as error:
        print(error)
