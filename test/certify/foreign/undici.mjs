import { Agent, RetryAgent, request } from 'undici'
import { headers, json, method, report, timeout, url } from './call.mjs'

const agent = new Agent({ headersTimeout: timeout, bodyTimeout: timeout })
const dispatcher = new RetryAgent(agent, { maxRetries: 3, methods: ['GET', 'POST'] })
await request(url, {
  dispatcher,
  method,
  headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
  body: json && JSON.stringify(json),
})
  .then(({ body }) => body.json())
  .catch(report)
