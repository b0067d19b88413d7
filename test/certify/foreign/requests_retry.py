import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from call import HEADERS, JSON, METHOD, TIMEOUT, URL

retry = Retry(total=3, backoff_factor=0.5, status_forcelist=[429, 500, 502, 503, 504], allowed_methods=None)
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=retry))
session.request(METHOD, URL, headers=HEADERS, json=JSON, timeout=TIMEOUT).raise_for_status()
