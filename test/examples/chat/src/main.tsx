import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api.ts'
import { App } from './app.tsx'
import './style.css'

/** Only a 429 is repeated, after the time that the service names. */
const isWait = (error: Error): error is ApiError => error instanceof ApiError && error.status === 429
const retries = {
  retry: (failures: number, error: Error) => isWait(error) && failures < 3,
  retryDelay: (_failures: number, error: Error) => (isWait(error) ? (error.retryAfter ?? 1) * 1_000 : 0),
}

const client = new QueryClient({ defaultOptions: { queries: retries, mutations: retries } })
const root = document.querySelector('#root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  )
