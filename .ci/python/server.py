"""The tools of the comparison on the Python SDK: every behaviour that its
chapter on structured output describes, and the types that it names beside.
main.go has the same tools, in the same order."""

import dataclasses
import datetime
import enum
import json
import typing

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.types import CallToolResult, ResourceLink, TextContent
from pydantic import BaseModel, Field

server = MCPServer("weather")
OVERCAST = {"temperature": 16.2, "humidity": 0.83, "conditions": "Overcast"}


class WeatherData(BaseModel):
    temperature: float
    humidity: float
    conditions: str


class Place(BaseModel):
    lat: float
    lon: float


class Station(BaseModel):
    name: str
    place: Place
    readings: list[WeatherData]


class Node(BaseModel):
    value: int
    kids: list["Node"]


class Sky(enum.Enum):
    CLEAR = "clear"
    OVERCAST = "overcast"


# Scalars are wrapped.


@server.tool()
def get_temperature(city: str) -> int:
    """Current temperature in a city, in whole degrees Celsius."""
    return {"London": 17, "Cairo": 34, "Reykjavik": 4}[city]


@server.tool()
def get_name() -> str:
    return "London"


@server.tool()
def get_ratio() -> float:
    return 0.25


@server.tool()
def is_raining() -> bool:
    return True


@server.tool()
def get_bytes() -> bytes:
    return b"rain"


@server.tool()
def reset() -> None:
    return None


@server.tool()
def get_time() -> datetime.datetime:
    return datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)


@server.tool()
def get_sky() -> Sky:
    return Sky.OVERCAST


@server.tool()
def count_drops() -> int:
    """In Go an int32, which has bounds."""
    return 7


# Objects stay as they are, whatever declares them.


def described():
    class WeatherData(BaseModel):
        temperature: float = Field(description="Degrees Celsius.")
        humidity: float = Field(description="Relative humidity, 0 to 1.", ge=0, le=1, examples=[0.5])
        conditions: str

    @server.tool()
    def get_weather(city: str) -> WeatherData:
        """Current weather for a city."""
        return WeatherData(**OVERCAST)


described()


def typed_dict():
    class WeatherData(typing.TypedDict):
        temperature: float
        humidity: float
        conditions: str

    @server.tool()
    def get_weather_dict(city: str) -> WeatherData:
        return WeatherData(**OVERCAST)


typed_dict()


def data_class():
    @dataclasses.dataclass
    class WeatherData:
        temperature: float
        humidity: float
        conditions: str

    @server.tool()
    def get_weather_data(city: str) -> WeatherData:
        return WeatherData(**OVERCAST)


data_class()


def annotated_class():
    class WeatherData:
        temperature: float
        humidity: float
        conditions: str

        def __init__(self, temperature: float, humidity: float, conditions: str):
            self.temperature = temperature
            self.humidity = humidity
            self.conditions = conditions

    @server.tool()
    def get_weather_class(city: str) -> WeatherData:
        return WeatherData(**OVERCAST)


annotated_class()


@server.tool()
def get_details(name: str) -> Station:
    return Station(name=name, place=Place(lat=51.5, lon=-0.125), readings=[WeatherData(**OVERCAST)])


@server.tool()
def get_tree() -> Node:
    return Node(value=1, kids=[Node(value=2, kids=[])])


# Lists have a block for each item; tuples, unions and optionals are wrapped.


@server.tool()
def get_forecast(city: str, days: int) -> list[WeatherData]:
    """Daily forecast for a city."""
    return [WeatherData(**{**OVERCAST, "temperature": 16.2 + day}) for day in range(days)]


@server.tool()
def list_cities() -> list[str]:
    return ["London", "Cairo"]


@server.tool()
def list_grid() -> list[list[int]]:
    return [[1, 2], [3]]


@server.tool()
def list_gaps() -> list[int | None]:
    return [7, None]


@server.tool()
def get_pair() -> tuple[int, str]:
    return (7, "mm")


@server.tool()
def get_triple() -> tuple[int, str, WeatherData]:
    return (7, "mm", WeatherData(**OVERCAST))


@server.tool()
def get_either() -> int | str:
    return "many"


@server.tool()
def get_model() -> WeatherData | Place:
    return Place(lat=51.5, lon=-0.125)


@server.tool()
def get_maybe() -> int | None:
    return None


@server.tool()
def get_maybe_weather() -> WeatherData | None:
    return WeatherData(**OVERCAST)


# Dictionaries with names for keys are objects, others are wrapped.


@server.tool()
def get_temperatures(cities: list[str]) -> dict[str, float]:
    """Current temperature for each city, in degrees Celsius."""
    readings = {"London": 16.2, "Cairo": 34.1, "Reykjavik": 4.4}
    return {city: readings[city] for city in cities}


@server.tool()
def get_history() -> dict[str, list[WeatherData]]:
    return {"London": [WeatherData(**OVERCAST)]}


@server.tool()
def get_by_hour() -> dict[int, float]:
    return {1: 16.2}


# What is returned is validated; what goes wrong is an error of the tool.


@server.tool()
def get_upstream(city: str) -> WeatherData:
    return json.loads('{"London": {"temperature": 16.2, "conditions": "Overcast"}}')[city]


@server.tool()
def get_upstream_whole() -> WeatherData:
    return OVERCAST


@server.tool()
def fail(city: str) -> int:
    raise ValueError(f"there is no station in {city}")


# Arguments.


@server.tool()
def search(
    city: str,
    days: typing.Annotated[int, Field(description="How many days.", ge=1, le=14)] = 3,
    unit: typing.Literal["c", "f"] = "c",
    where: Place | None = None,
) -> str:
    return f"{city} {days} {unit} {where.lat if where else 'nowhere'}"


# Text only, and content of one's own.


@server.tool(structured_output=False)
def weather_report(city: str) -> str:
    """A human-readable weather report for a city."""
    return f"{city}: 17 degrees, overcast, light rain easing by evening."


@server.tool(structured_output=False)
def report_model() -> WeatherData:
    return WeatherData(**OVERCAST)


@server.tool(structured_output=False)
def report_list() -> list[int]:
    return [1, 2]


@server.tool()
def get_picture() -> Image:
    return Image(data=b"picture", format="png")


@server.tool()
def get_block() -> TextContent:
    return TextContent(type="text", text="a block")


@server.tool()
def get_link() -> list[ResourceLink]:
    return [ResourceLink(type="resource_link", uri="file:///station", name="station", mime_type="text/plain")]


@server.tool()
def get_whole() -> typing.Annotated[CallToolResult, WeatherData]:
    return CallToolResult(
        content=[TextContent(type="text", text="mild")],
        structured_content=OVERCAST,
        _meta={"example.org/station": 7},
    )


# A class that declares nothing: unstructured without a word.


class Mute:
    def __init__(self, name: str):
        self.name = name


@server.tool()
def get_station(name: str) -> Mute:
    """Look up a weather station by name."""
    return Mute(name)


if __name__ == "__main__":
    server.run()
