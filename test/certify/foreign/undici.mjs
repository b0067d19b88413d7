import { Agent, RetryAgent, request } from 'undici'
import { headers, json, method, timeout, url } from './call.mjs'

const agent = new Agent({ headersTimeout: timeout, bodyTimeout: timeout })
const dispatcher = new RetryAgent(agent, { maxRetries: 3, methods: ['GET', 'POST'] })
const { body } = await request(url, {
  dispatcher,
  method,
  headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
  body: json && JSON.stringify(json),
})
await body.json()
