import './theme.ts'

// After the first frame: the page is drawn before its script runs.
requestAnimationFrame(() => setTimeout(() => import('./app.tsx')))
