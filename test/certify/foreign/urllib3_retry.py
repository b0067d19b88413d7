import urllib3
from urllib3.util import Retry

from call import HEADERS, JSON, METHOD, TIMEOUT, URL

retry = Retry(total=3, backoff_factor=0.5, status_forcelist=[429, 500, 502, 503, 504], allowed_methods=None)
pool = urllib3.PoolManager(retries=retry, timeout=TIMEOUT)
pool.request(METHOD, URL, headers=HEADERS, **({} if JSON is None else {"json": JSON})).json()
