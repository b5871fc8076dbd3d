from .checker import RejectedError as RejectedError
from .make import CertificateError as CertificateError
from .make import certify as certify
from .make import verify as verify
