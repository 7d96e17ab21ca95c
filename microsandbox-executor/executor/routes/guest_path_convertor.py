"""A path parameter that takes everything, line breaks included: the guest's file names may hold them."""

from starlette.convertors import Convertor, register_url_convertor


class GuestPathConvertor(Convertor[str]):
    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


def register() -> None:
    register_url_convertor("guest_path", GuestPathConvertor())
