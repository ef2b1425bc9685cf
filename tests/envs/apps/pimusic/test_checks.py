"""Which answers the questions about songs accept."""

from coach_gym.envs.apps.pimusic import lab_tasks as pimusic


def test_numbers_of_songs(accepts):
    songs = [["One", "Ada Moon", "Trees", 200]]
    params = {"title": "", "songs": songs, "playlists": [], "playing": None, "artist": "Ada Moon", "other": ""}
    accepts(pimusic.PiMusicCountByArtist(params), ("1", "1 song", "1 songs"), ("0", "11", "one or two"))


def test_names_of_albums(accepts):
    songs = [["One", "Ada Moon", "Tall Trees", 200], ["Two", "Ada Moon", "Seas", 200]]
    params = {"title": "One", "songs": songs, "playlists": [], "playing": None, "other": "Two"}
    accepts(pimusic.PiMusicAlbumOf(params), ("Tall Trees", "tall trees", "'Tall Trees'."), ("Seas", "Tall", "One"))
