import ky from 'ky'
import { headers, json, method, report, timeout, url } from './call.mjs'

await ky(url, {
  method,
  headers,
  json,
  timeout: 5 * timeout,
  retry: { limit: 3, methods: ['get', 'post'] },
})
  .json()
  .catch(report)
