-- The run of this server in which a counter is in use, once it was loaded there. Another one begins with a restart, and
-- with every promotion: a master that was replaced, and is master again, may have missed what was sold meanwhile.
-- (Also when its first replica comes, or comes back after an hour: a rebuild too many, and no more.)
-- Stands before every script.
local function thisRun()
  local info = redis.call('INFO', 'server', 'replication')
  return string.match(info, 'run_id:(%w+)') .. ' ' .. string.match(info, 'master_replid:(%w+)')
end

