import type { NextConfig } from 'next'

export default {
  poweredByHeader: false,
  // The repository around this folder has a lockfile of its own.
  turbopack: { root: import.meta.dirname },
} satisfies NextConfig
