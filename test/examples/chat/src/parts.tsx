import { type ReactNode, useEffect, useState } from 'react'
import { ApiError } from './api.ts'

/** What a query or a mutation has to say: nothing, a countdown, or an error. */
export function Problem({ error, reason }: { readonly error: Error | null; readonly reason?: Error | null }) {
  if (error === null && reason instanceof ApiError && reason.status === 429)
    return <Countdown key={reason.retryAfter} seconds={reason.retryAfter ?? 1} />
  return error === null ? null : (
    <p role="alert" className="problem">
      {error.message}
    </p>
  )
}

function Countdown({ seconds }: { readonly seconds: number }) {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const timer = setInterval(() => setLeft((each) => Math.max(0, each - 1)), 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <p role="status" className="wait">
      Too many requests. The next attempt is in {left} s.
    </p>
  )
}

export function Title({ children, more }: { readonly children: ReactNode; readonly more?: ReactNode }) {
  return (
    <header>
      <h1>{children}</h1>
      {more}
    </header>
  )
}

export function when(instant: string): string {
  return new Date(instant).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
}
