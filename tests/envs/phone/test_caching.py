import threading

import numpy as np
from PIL import Image

from coach_gym.envs.apps.pimusic.data import _sound
from coach_gym.envs.phone.caching import cached, weight_of
from coach_gym.envs.phone.media.audio import silent_mp3
from coach_gym.envs.phone.toolkit.fonts import rounded_mask, text_mask
from tests.reliability.fuzz import resident


def test_a_result_is_made_once_and_forgotten_when_there_is_too_much():
    made = []

    @cached(1.0)
    def blank(number, size=100_000):
        made.append(number)
        return bytes(size)

    for _ in range(3):
        assert len(blank(1)) == 100_000
    assert made == [1]
    for number in range(200):
        blank(number)
        assert blank.cache_info().currsize <= 10
    assert blank(199) and made == [1, 0, *range(2, 200)]


def test_what_a_result_is_found_by_counts():
    size = cached(1.0)(len)
    for number in range(100):
        assert size(bytes([number]) * 300_000) == 300_000
        assert size.cache_info().currsize <= 3


def test_the_weight_of_pictures_and_of_what_contains_them():
    pixels = np.zeros((100, 200, 3), np.uint8)
    assert weight_of(pixels) == weight_of(pixels[::-1]) == 60_000
    assert weight_of(Image.new("L", (100, 200))) == 20_000 and weight_of(Image.new("RGB", (100, 200))) == 80_000
    assert weight_of({"a": [pixels, (b"x" * 9_000, None)]}) > 69_000


def test_threads_share_a_cache():
    double = cached(0.01)(lambda number: [number] * 100)
    wrong = []

    def work():
        wrong.extend(number for number in range(5_000) if double(number % 97) != [number % 97] * 100)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong and double.cache_info().currsize <= 100


def test_boxes_lines_and_songs_of_all_sizes_do_not_fill_the_memory():
    before = resident()
    for number in range(600):
        rounded_mask(1080, 700 + number, 24)
        text_mask(f"{number} " * 60, 45)
        _sound(silent_mp3(300.0 + number, "title", "artist"))
    assert resident() - before < 150
