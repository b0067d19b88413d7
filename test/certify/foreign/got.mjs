import got from 'got'
import { headers, json, method, timeout, url } from './call.mjs'

const retry = { methods: ['GET', 'POST'] }
await got(url, { method, headers, json, retry, timeout: { request: timeout } }).json()
