"""Scripted solvers that see only what an agent sees: proofs of solvability and demonstrations."""

from coach_gym.envs.experts import calendar as calendar
from coach_gym.envs.experts import clock as clock
from coach_gym.envs.experts import contacts as contacts
from coach_gym.envs.experts import draw as draw
from coach_gym.envs.experts import expense as expense
from coach_gym.envs.experts import files as files
from coach_gym.envs.experts import gallery as gallery
from coach_gym.envs.experts import lab_bluecoins as lab_bluecoins
from coach_gym.envs.experts import lab_cantook as lab_cantook
from coach_gym.envs.experts import lab_calendar as lab_calendar
from coach_gym.envs.experts import lab_clock as lab_clock
from coach_gym.envs.experts import lab_contacts as lab_contacts
from coach_gym.envs.experts import lab_settings as lab_settings
from coach_gym.envs.experts import lab_pimusic as lab_pimusic
from coach_gym.envs.experts import lab_zoom as lab_zoom
from coach_gym.envs.experts import maps as maps
from coach_gym.envs.experts import markor as markor
from coach_gym.envs.experts import messages as messages
from coach_gym.envs.experts import notes as notes
from coach_gym.envs.experts import recipes as recipes
from coach_gym.envs.experts import recorder as recorder
from coach_gym.envs.experts import retro as retro
from coach_gym.envs.experts import settings as settings
from coach_gym.envs.experts import sports as sports
from coach_gym.envs.experts import tasks as tasks
from coach_gym.envs.experts import vlc as vlc
