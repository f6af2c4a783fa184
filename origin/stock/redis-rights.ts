/**
 * The least rights of a user of Redis (redis.io/docs/latest/operate/oss_and_stack/management/security/acl): the
 * commands that an origin sends, and those in its scripts. Whoever may run them can read every key, so the database
 * belongs to the sales alone.
 */

const CONNECTION = 'auth hello ping select info config|get'
const CLUSTER = 'cluster|slots cluster|nodes cluster|info asking readonly'
const SCRIPTS = 'eval evalsha script|load script|exists multi exec discard wait time'
const KEYS = 'exists del unlink expire pexpire persist pttl get mget set getbit setbit'
const HASHES = 'hget hmget hgetall hset hsetnx hdel hexists hincrby hlen hscan hkeys'
const SORTED_SETS = 'zadd zrem zcard zcount zrange zrangebyscore zremrangebyscore'
const LISTS = 'rpush lrange lrem llen'
const COUNTS = 'pfadd pfcount'
const CHANNELS = 'publish subscribe unsubscribe'

/** The rules of a user, as `ACL SETUSER`, a line of an ACL file, or the access string of a managed Redis has them. */
export const REDIS_RULES = [
  'on ~* &* -@all',
  ...[CONNECTION, CLUSTER, SCRIPTS, KEYS, HASHES, SORTED_SETS, LISTS, COUNTS, CHANNELS].flatMap((commands) =>
    commands.split(' ').map((command) => `+${command}`),
  ),
].join(' ')
