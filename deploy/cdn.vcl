# The cache before the edge on one machine, as Workers Cache stands before a Worker on Cloudflare: RFC 9111 by the response's own
# Cache-Control (Varnish reads max-age, s-maxage and stale-while-revalidate itself) or, where there is one, by its
# CDN-Cache-Control (RFC 9213); Vary; and purge by Cache-Tag. cdn.ts includes this file after the backend `edge`. The environment
# has CACHE_PURGE_TOKEN, the same as the edge's. What ends https before it must speak the PROXY protocol (`-a :8080,PROXY`):
# otherwise all callers have its address.
vcl 4.1;

import std;

sub vcl_recv {
  if (req.method == "PURGE") {
    if (!std.getenv("CACHE_PURGE_TOKEN") || req.http.Authorization != "Bearer " + std.getenv("CACHE_PURGE_TOKEN")) {
      return (synth(403, "Purging needs the secret"));
    }
    # They become part of an expression, so nothing else may come in.
    if (req.http.Cache-Tag !~ "^[A-Za-z0-9_:/-]+(, *[A-Za-z0-9_:/-]+)*$") {
      return (synth(400, "Cache-Tag: tag[, tag]"));
    }
    ban("obj.http.Cache-Tag ~ (?i)(^|,)[[:space:]]*(" + regsuball(req.http.Cache-Tag, ", *", "|") + ")[[:space:]]*(,|$)");
    return (synth(200, "Purged"));
  }

  # The address as seen here, whatever the caller says of it.
  set req.http.CF-Connecting-IP = client.ip;

  if ((req.method != "GET" && req.method != "HEAD") || req.http.Authorization || req.http.Upgrade) {
    return (pass);
  }
  # Past the built-in rules, which keep nothing for whoever sends a cookie.
  return (hash);
}

# Pages name their own host, so it is part of the key; no cookie is.
sub vcl_hash {
  hash_data(req.url);
  hash_data(req.http.Host);
  return (lookup);
}

sub vcl_backend_response {
  # A failed refresh leaves the stale response for as long as it may be served.
  if (beresp.status >= 500 && bereq.is_bgfetch) {
    return (abandon);
  }
  if (beresp.http.Set-Cookie || beresp.http.Vary ~ "\*" || beresp.http.Cache-Control ~ "(?i)\b(no-store|no-cache|private)\b"
      || beresp.http.Cloudflare-CDN-Cache-Control ~ "no-store") {
    # Remembered, so that callers of the same URL do not wait for one another; a response that may be kept ends it.
    set beresp.uncacheable = true;
    set beresp.ttl = 10s;
    return (deliver);
  }
  if (beresp.http.CDN-Cache-Control ~ "max-age=\d+") {
    set beresp.ttl = std.duration(regsub(beresp.http.CDN-Cache-Control, "^.*max-age=(\d+).*$", "\1s"), 0s);
    set beresp.grace = 0s;
  }
  if (beresp.http.CDN-Cache-Control ~ "stale-while-revalidate=\d+") {
    set beresp.grace = std.duration(regsub(beresp.http.CDN-Cache-Control, "^.*stale-while-revalidate=(\d+).*$", "\1s"), 0s);
  }
  return (deliver);
}

sub vcl_deliver {
  if (obj.uncacheable) {
    set resp.http.Cf-Cache-Status = "BYPASS";
  } elsif (obj.hits > 0) {
    set resp.http.Cf-Cache-Status = "HIT";
  } else {
    set resp.http.Cf-Cache-Status = "MISS";
  }
  # Clients correct the server's time by the age of a kept response, and only of such.
  if (obj.hits == 0) {
    unset resp.http.Age;
  }
  unset resp.http.Cache-Tag;
  unset resp.http.X-Varnish;
  unset resp.http.Via;
}

sub vcl_synth {
  # By this name the one who started the cache knows it.
  set resp.http.Server = server.identity;
  set resp.body = resp.reason;
  return (deliver);
}
