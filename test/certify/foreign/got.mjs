import got from 'got'
import { headers, json, method, report, timeout, url } from './call.mjs'

const retry = { methods: ['GET', 'POST'], maxRetryAfter: 60_000 }
await got(url, { method, headers, json, retry, timeout: { request: timeout } })
  .json()
  .catch(report)
