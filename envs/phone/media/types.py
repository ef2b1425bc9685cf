"""MIME types by the ends of files' names, as Android's `MimeMap` has them: those of this machine may be others."""

from __future__ import annotations

UNKNOWN = "application/octet-stream"
_NAMES = """
application/epub+zip epub
application/gzip gz
application/json json
application/msword doc
application/pdf pdf
application/rtf rtf
application/vnd.android.package-archive apk
application/vnd.ms-excel xls
application/vnd.ms-powerpoint ppt
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.text odt
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/x-7z-compressed 7z
application/x-subrip srt
application/x-tar tar
application/zip zip
audio/aac aac
audio/amr amr
audio/flac flac
audio/midi mid midi
audio/mp4 m4a m4b
audio/mpeg mp3 mp2 mpga
audio/ogg ogg oga opus
audio/x-mpegurl m3u
audio/x-ms-wma wma
audio/x-wav wav
image/bmp bmp
image/gif gif
image/heic heic
image/heif heif
image/jpeg jpg jpeg jpe
image/png png
image/svg+xml svg
image/tiff tif tiff
image/webp webp
image/x-adobe-dng dng
text/calendar ics
text/comma-separated-values csv
text/css css
text/html html htm
text/markdown md markdown
text/plain txt text
text/x-vcard vcf
text/xml xml
video/3gpp 3gp 3gpp
video/3gpp2 3g2 3gp2
video/avi avi
video/mp2ts ts
video/mp4 mp4 m4v
video/mpeg mpg mpeg
video/quicktime mov qt
video/webm webm
video/x-matroska mkv
video/x-ms-wmv wmv
"""
_TYPES = {end: kind for kind, *ends in map(str.split, _NAMES.strip().splitlines()) for end in ends}


def mime_type(name: str) -> str:
    """Returns the MIME type of a file by its name."""
    return _TYPES.get(name.rpartition(".")[2].lower() if "." in name else "", UNKNOWN)
