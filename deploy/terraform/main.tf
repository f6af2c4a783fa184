# The stores on AWS, and the secrets of kubernetes/base made of them: an example to start from. The state of Terraform holds
# these secrets, so keep it encrypted.
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws        = { source = "hashicorp/aws", version = "~> 5.0" }
    kubernetes = { source = "hashicorp/kubernetes", version = "~> 2.30" }
    random     = { source = "hashicorp/random", version = "~> 3.6" }
  }
}

variable "namespace" {
  type    = string
  default = "flash-sale"
}

variable "subnets" {
  description = "Private subnets in two zones or more."
  type        = list(string)
}

variable "security_groups" {
  description = "What the pods may reach."
  type        = list(string)
}

variable "secrets" {
  description = "The other settings of kubernetes/secrets.example.yaml, by name."
  type        = map(string)
  sensitive   = true
}

resource "random_password" "store" {
  for_each = toset(["postgres", "redis"])
  length   = 40
  special  = false
}

resource "aws_db_subnet_group" "postgres" {
  name       = "flash-sale"
  subnet_ids = var.subnets
}

# A 201 is a commit, so the standby in another zone has it before the answer.
resource "aws_db_instance" "postgres" {
  identifier                   = "flash-sale"
  engine                       = "postgres"
  engine_version               = "17"
  instance_class               = "db.m7g.xlarge"
  allocated_storage            = 200
  storage_type                 = "gp3"
  storage_encrypted            = true
  multi_az                     = true
  db_name                      = "flash_sale"
  username                     = "flash_sale_owner"
  password                     = random_password.store["postgres"].result
  db_subnet_group_name         = aws_db_subnet_group.postgres.name
  vpc_security_group_ids       = var.security_groups
  backup_retention_period      = 14
  deletion_protection          = true
  performance_insights_enabled = true
  skip_final_snapshot          = false
  final_snapshot_identifier    = "flash-sale-final"
}

resource "aws_elasticache_subnet_group" "redis" {
  name       = "flash-sale"
  subnet_ids = var.subnets
}

resource "aws_elasticache_parameter_group" "redis" {
  name   = "flash-sale"
  family = "redis7"
  # While keys may be evicted the fast gates are shut.
  parameter {
    name  = "maxmemory-policy"
    value = "noeviction"
  }
}

# An order answered `processing` is in Redis alone: the replica in another zone has it before the answer.
resource "aws_elasticache_replication_group" "redis" {
  replication_group_id       = "flash-sale"
  description                = "Gates of the flash sale"
  engine                     = "redis"
  engine_version             = "7.1"
  node_type                  = "cache.m7g.large"
  num_cache_clusters         = 2
  automatic_failover_enabled = true
  multi_az_enabled           = true
  parameter_group_name       = aws_elasticache_parameter_group.redis.name
  subnet_group_name          = aws_elasticache_subnet_group.redis.name
  security_group_ids         = var.security_groups
  at_rest_encryption_enabled = true
  transit_encryption_enabled = true
  auth_token                 = random_password.store["redis"].result
}

locals {
  postgres = "${aws_db_instance.postgres.endpoint}/flash_sale?sslrootcert=/authorities/postgres.pem"
  database = "postgres://flash_sale_owner:${random_password.store["postgres"].result}@${local.postgres}"
  redis    = aws_elasticache_replication_group.redis.primary_endpoint_address
}

resource "kubernetes_secret" "origin" {
  metadata {
    name      = "flash-sale"
    namespace = var.namespace
  }
  data = merge(var.secrets, {
    DATABASE_URL = local.database
    REDIS_URL    = "rediss://:${random_password.store["redis"].result}@${local.redis}:6379"
  })
}

# The role above owns the database. Make another one that serves, for the secret above: `migrate --rights ROLE` prints its rights.
resource "kubernetes_secret" "migration" {
  metadata {
    name      = "flash-sale-migration"
    namespace = var.namespace
  }
  data = {
    DATABASE_URL = local.database
  }
}
