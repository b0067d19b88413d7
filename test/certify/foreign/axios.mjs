import axios from 'axios'
import axiosRetry, { exponentialDelay, isNetworkOrIdempotentRequestError } from 'axios-retry'
import { headers, json, method, report, timeout, url } from './call.mjs'

const client = axios.create({ timeout })
const isRefused = ({ response }) => response?.status === 429
axiosRetry(client, {
  retries: 3,
  shouldResetTimeout: true,
  retryDelay: exponentialDelay,
  retryCondition: (error) => isNetworkOrIdempotentRequestError(error) || isRefused(error),
})
await client.request({ url, method, headers, data: json }).catch(report)
